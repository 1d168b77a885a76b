// MongoDB's driver for Go against a server: documents, indexes, errors, a transaction and a change
// stream. The argument is the server's URI; the program ends with code 1 where an answer is wrong.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// patience is the longest wait for an answer.
const patience = 60 * time.Second

type item struct {
	ID    int                  `bson:"_id"`
	Name  string               `bson:"name"`
	Tags  []string             `bson:"tags,omitempty"`
	Price primitive.Decimal128 `bson:"price,omitempty"`
	At    time.Time            `bson:"at,omitempty"`
}

// check ends the program with what went wrong.
func check(err error, what string) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
		os.Exit(1)
	}
}

// expect ends the program unless two values are equal.
func expect(found, expected interface{}, what string) {
	if !reflect.DeepEqual(found, expected) {
		check(fmt.Errorf("found %#v, expected %#v", found, expected), what)
	}
}

func documents(ctx context.Context, items *mongo.Collection) {
	price, err := primitive.ParseDecimal128("10.00")
	check(err, "a decimal")
	at := time.Date(2026, 11, 28, 9, 0, 0, 250_000_000, time.UTC)
	first := item{1, "first", []string{"a", "b"}, price, at}
	_, err = items.InsertOne(ctx, first)
	check(err, "insertOne")
	var many []interface{}
	for number := 2; number <= 500; number++ {
		many = append(many, item{ID: number, Name: fmt.Sprint("item ", number%10)})
	}
	inserted, err := items.InsertMany(ctx, many)
	check(err, "insertMany")
	expect(len(inserted.InsertedIDs), 499, "insertMany")

	var read item
	check(items.FindOne(ctx, bson.M{"_id": 1}).Decode(&read), "findOne")
	read.At = read.At.UTC()
	expect(read, first, "findOne")
	expect(items.FindOne(ctx, bson.M{"_id": 0}).Err(), mongo.ErrNoDocuments, "findOne of none")

	cursor, err := items.Find(
		ctx, bson.M{"name": "item 3"}, options.Find().SetSort(bson.M{"_id": -1}).SetBatchSize(7))
	check(err, "find")
	var found []item
	check(cursor.All(ctx, &found), "find")
	expect(len(found), 50, "find")
	expect(found[0].ID, 493, "find")

	count, err := items.CountDocuments(ctx, bson.M{"_id": bson.M{"$gt": 400}})
	check(err, "countDocuments")
	expect(count, int64(100), "countDocuments")

	updated, err := items.UpdateMany(
		ctx, bson.M{"name": "item 4"},
		bson.M{"$set": bson.M{"done": true}, "$push": bson.M{"tags": "x"}})
	check(err, "updateMany")
	expect(updated.ModifiedCount, int64(50), "updateMany")
	put, err := items.UpdateOne(
		ctx, bson.M{"_id": 900}, bson.M{"$inc": bson.M{"n": 2}}, options.Update().SetUpsert(true))
	check(err, "an upsert")
	expect(put.UpsertedID, int32(900), "an upsert")
	after := options.FindOneAndUpdate().SetReturnDocument(options.After)
	var changed bson.M
	check(items.FindOneAndUpdate(ctx, bson.M{"_id": 900}, bson.M{"$inc": bson.M{"n": 1}}, after).
		Decode(&changed), "findOneAndUpdate")
	expect(changed, bson.M{"_id": int32(900), "n": int32(3)}, "findOneAndUpdate")

	bulk, err := items.BulkWrite(ctx, []mongo.WriteModel{
		mongo.NewInsertOneModel().SetDocument(bson.M{"_id": 901}),
		mongo.NewReplaceOneModel().SetFilter(bson.M{"_id": 901}).SetReplacement(bson.M{"n": 1}),
		mongo.NewDeleteManyModel().SetFilter(bson.M{"name": "item 5"}),
	})
	check(err, "bulkWrite")
	expect([]int64{bulk.InsertedCount, bulk.ModifiedCount, bulk.DeletedCount}, []int64{1, 1, 50},
		"bulkWrite")

	pipeline := mongo.Pipeline{
		{{Key: "$match", Value: bson.M{"done": true}}},
		{{Key: "$group", Value: bson.M{"_id": "$name", "n": bson.M{"$sum": 1}}}},
	}
	cursor, err = items.Aggregate(ctx, pipeline)
	check(err, "aggregate")
	var groups []bson.M
	check(cursor.All(ctx, &groups), "aggregate")
	expect(groups, []bson.M{{"_id": "item 4", "n": int32(50)}}, "aggregate")

	names, err := items.Distinct(ctx, "name", bson.M{"_id": bson.M{"$lt": 4}})
	check(err, "distinct")
	expect(names, []interface{}{"first", "item 2", "item 3"}, "distinct")
}

func indexesAndErrors(ctx context.Context, items *mongo.Collection) {
	_, err := items.InsertOne(ctx, bson.M{"_id": 1})
	expect(mongo.IsDuplicateKeyError(err), true, "a duplicate _id")
	name, err := items.Indexes().CreateOne(ctx, mongo.IndexModel{
		Keys: bson.D{{Key: "email", Value: 1}},
		Options: options.Index().SetUnique(true).
			SetPartialFilterExpression(bson.M{"email": bson.M{"$exists": true}}),
	})
	check(err, "createIndexes")
	expect(name, "email_1", "createIndexes")
	specifications, err := items.Indexes().ListSpecifications(ctx)
	check(err, "listIndexes")
	expect(len(specifications), 2, "listIndexes")
	_, err = items.UpdateOne(ctx, bson.M{"_id": 1}, bson.M{"$set": bson.M{"email": "a@b.c"}})
	check(err, "an email")
	_, err = items.UpdateOne(ctx, bson.M{"_id": 2}, bson.M{"$set": bson.M{"email": "a@b.c"}})
	expect(mongo.IsDuplicateKeyError(err), true, "a duplicate email")
	_, err = items.UpdateOne(ctx, bson.M{"_id": 1}, bson.M{"$inc": bson.M{"name": 1}})
	var refused mongo.WriteException
	expect(errors.As(err, &refused) && refused.HasErrorCode(14), true, "$inc of a text")
	_, err = items.Find(ctx, bson.M{"$unknown": 1})
	var failed mongo.CommandError
	expect(errors.As(err, &failed) && failed.HasErrorCode(2), true, "an unknown operator")
}

func transactions(ctx context.Context, client *mongo.Client, items *mongo.Collection) {
	session, err := client.StartSession()
	check(err, "a session")
	defer session.EndSession(ctx)
	stop := errors.New("stop")
	_, err = session.WithTransaction(ctx, func(own mongo.SessionContext) (interface{}, error) {
		if _, err := items.InsertOne(own, bson.M{"_id": 1000}); err != nil {
			return nil, err
		}
		check(items.FindOne(own, bson.M{"_id": 1000}).Err(), "the transaction's own write")
		expect(items.FindOne(ctx, bson.M{"_id": 1000}).Err(), mongo.ErrNoDocuments,
			"a write that is not committed")
		return nil, stop
	})
	expect(err, stop, "an aborted transaction")
	expect(items.FindOne(ctx, bson.M{"_id": 1000}).Err(), mongo.ErrNoDocuments, "an aborted write")
	_, err = session.WithTransaction(ctx, func(own mongo.SessionContext) (interface{}, error) {
		if _, err := items.InsertOne(own, bson.M{"_id": 1000}); err != nil {
			return nil, err
		}
		return items.DeleteOne(own, bson.M{"_id": 1})
	})
	check(err, "a transaction")
	check(items.FindOne(ctx, bson.M{"_id": 1000}).Err(), "a committed insert")
	expect(items.FindOne(ctx, bson.M{"_id": 1}).Err(), mongo.ErrNoDocuments, "a committed delete")
}

func changeStream(ctx context.Context, items *mongo.Collection) {
	lookup := options.ChangeStream().SetFullDocument(options.UpdateLookup)
	stream, err := items.Watch(ctx, mongo.Pipeline{}, lookup)
	check(err, "watch")
	_, err = items.InsertOne(ctx, bson.M{"_id": 2000})
	check(err, "an insert")
	_, err = items.UpdateOne(ctx, bson.M{"_id": 2000}, bson.M{"$set": bson.M{"n": 1}})
	check(err, "an update")
	_, err = items.DeleteOne(ctx, bson.M{"_id": 2000})
	check(err, "a delete")
	next := func(stream *mongo.ChangeStream) bson.M {
		if !stream.Next(ctx) {
			check(fmt.Errorf("no event: %v", stream.Err()), "a change stream")
		}
		var event bson.M
		check(stream.Decode(&event), "an event")
		return event
	}
	expect(next(stream)["fullDocument"], bson.M{"_id": int32(2000)}, "the event of an insert")
	token := stream.ResumeToken()
	check(stream.Close(ctx), "the end of a stream")
	resumed, err := items.Watch(ctx, mongo.Pipeline{}, lookup.SetResumeAfter(token))
	check(err, "watch again")
	expect(next(resumed)["operationType"], "update", "the event of an update")
	expect(next(resumed)["operationType"], "delete", "the event of a delete")
	check(resumed.Close(ctx), "the end of a stream")
}

func main() {
	ctx, end := context.WithTimeout(context.Background(), 5*patience)
	defer end()
	client, err := mongo.Connect(ctx, options.Client().ApplyURI(os.Args[1]).
		SetServerSelectionTimeout(patience))
	check(err, "connect")
	check(client.Ping(ctx, nil), "ping")
	items := client.Database("go").Collection("items")
	documents(ctx, items)
	indexesAndErrors(ctx, items)
	transactions(ctx, client, items)
	changeStream(ctx, items)
	check(items.Database().Drop(ctx), "dropDatabase")
	check(client.Disconnect(ctx), "disconnect")
	fmt.Println("MongoDB's driver for Go: all answers were as expected")
}
